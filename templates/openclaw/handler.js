// gitguard's directory hook: the internal events, where the plugin leaves them to it.
import { onInternal } from "./internal.js";

export default onInternal;
