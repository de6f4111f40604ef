"""The language server in a real editor."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.editing.texts import HOUSE, POLICY
from tests.lsp.client import HANG

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("nvim") is None, reason="there is no nvim on this machine"),
]

SCRIPT = """
local out, python = vim.env.SDC_OUT, vim.env.SDC_PYTHON
local command = { python, "-m", "sdcdsl", "lsp" }
local client = vim.lsp.start_client({ name = "sdc", cmd = command, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, client)
local function wait(what) assert(vim.wait(%d, what, 50), "nothing came") end
wait(function() return #vim.diagnostic.get(0) > 0 end)
local result = { codes = vim.tbl_map(function(d) return d.code or d.user_data.lsp.code end, vim.diagnostic.get(0)) }
vim.fn.search("office.externl")
vim.api.nvim_set_current_line("  against office.external")
wait(function() return vim.tbl_isempty(vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })) end)
vim.fn.search("external")
local place = vim.lsp.buf_request_sync(0, "textDocument/definition", vim.lsp.util.make_position_params(), %d)
result.definition = place[client].result.uri
local renamed = vim.lsp.buf_request_sync(0, "textDocument/rename",
  vim.tbl_extend("force", vim.lsp.util.make_position_params(), { newName = "outsider" }), %d)[client].result
vim.lsp.util.apply_workspace_edit(renamed, "utf-16")
result.text = table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("main.sdc"), 0, -1, false), "\\n")
vim.fn.writefile({ vim.json and vim.json.encode(result) or vim.fn.json_encode(result) }, out)
vim.cmd("qall!")
"""


def test_neovim_shows_mistakes_follows_names_and_renames(tmp_path: Path) -> None:
    (tmp_path / "house.sdc").write_text(HOUSE, encoding="utf-8")
    wrong = POLICY.replace("against office.external", "against office.externl")
    (tmp_path / "main.sdc").write_text(wrong, encoding="utf-8")
    wait = int(HANG * 1000)
    (tmp_path / "walk.lua").write_text(SCRIPT % (wait, wait, wait), encoding="utf-8")
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    env = inherited | {
        "SDC_OUT": str(tmp_path / "out.json"),
        "SDC_PYTHON": sys.executable,
        "HOME": str(tmp_path),
        "TERM": "dumb",
    }
    subprocess.run(
        ["nvim", "--headless", "--clean", "main.sdc", "-c", "luafile walk.lua", "-c", "cquit"],
        cwd=tmp_path,
        env=env,
        check=True,
        timeout=3 * HANG,
        capture_output=True,
    )
    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert len(result["codes"]) == 1 and result["codes"][0].startswith("SDC1")
    assert result["definition"] == (tmp_path / "house.sdc").as_uri()
    assert "against office.outsider" in result["text"]
