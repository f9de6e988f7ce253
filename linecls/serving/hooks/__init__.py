"""Hooks of coding agents: a tool's output goes through linecls before the agent reads it.

`events` reads what the agent sends, `transcript` its last message, `claude_code` and `codex` know the form in
which each takes a replacement, `guarded` makes sure that nothing here can fail the agent, `settings` writes the
agent's configuration.
"""
