"""Ways to the pruner from outside this process: resident process, HTTP, MCP, Headroom, agent hooks."""
