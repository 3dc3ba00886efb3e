"""The API server's side: read, watch, write, and the errors it answers with. The only importer of the client."""
