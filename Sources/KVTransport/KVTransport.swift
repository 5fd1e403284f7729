// Filled by the room's first commit.
