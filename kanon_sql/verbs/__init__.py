"""What a user can ask for, each verb whole: from a source and a spec to a result."""
