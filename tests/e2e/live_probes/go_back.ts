// An extension that takes the newest turn back, as a user does in the tree of the full screen.
export default function (pi: any) {
    pi.registerCommand("go-back", {
        description: "Go back to before the newest prompt",
        handler: async (_: string, ctx: any) => {
            const branch = ctx.sessionManager.getBranch();
            const prompts = branch.filter(
                ({ type, message }: any) => type === "message" && message.role === "user",
            );
            await ctx.navigateTree(prompts.at(-1).id, { summarize: false });
        },
    });
}
