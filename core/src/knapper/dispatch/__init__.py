"""The pipeline every call goes through, one short module a gate."""
