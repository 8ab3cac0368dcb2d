"""What every call passes through, one concern a module; each wraps a flow."""
