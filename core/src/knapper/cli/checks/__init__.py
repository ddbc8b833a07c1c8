"""What `knapper doctor` looks at: one function a check, each of which may fail without harm to the others."""
