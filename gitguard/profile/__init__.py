"""What eats a conversation's context, how it works, and what past sessions advise."""
