"""Features of the proposals that no command uses: the drafts of KIP-35 and KIP-714, and a registry of connected clients."""
