"""What is not derived, in state.db: it is migrated and backed up."""
