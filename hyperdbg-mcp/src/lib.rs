//! MCP server for HyperDbg.
