"""`zaxy completion`: a script for a shell, and the words that come next. Nothing is imported for it but a
command whose options are asked for."""

from __future__ import annotations

from zaxy.command_table import COMMANDS
from zaxy.commands.options import CommandLine, Option, help_rows, parameters, say_help
from zaxy.errors import InvalidRequest
from zaxy.plugins.commands import package_commands
from zaxy.printing import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPTS = {
    "bash": """_zaxy() {
    local IFS=$'\\n'
    COMPREPLY=($(zaxy completion --words "${COMP_WORDS[*]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _zaxy zaxy""",
    "zsh": """#compdef zaxy
_zaxy() {
    local -a found
    found=("${(@f)$(zaxy completion --words "${(pj:\\n:)words[2,CURRENT]}" 2>/dev/null)}")
    [[ -n "$found" ]] && compadd -a found || _files
}
compdef _zaxy zaxy""",
    "fish": """function __zaxy_words
    set -l whole ''
    for word in (commandline -opc)[2..-1]
        set whole "$whole$word"\\n
    end
    set -l begun (commandline -ct)
    set -l found (zaxy completion --words "$whole$begun" 2>/dev/null)
    if test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path $begun
    end
end
complete -c zaxy -f -a '(__zaxy_words)'""",
    "powershell": """Register-ArgumentCompleter -Native -CommandName zaxy -ScriptBlock {
    param($begun, $line, $cursor)
    $typed = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
    if ($begun -eq '') { $typed += '' }
    zaxy completion --words ($typed -join "`n") 2>$null | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}""",
}
OPTIONS = (Option("--words", "TEXT", "what was typed so far, a line for each word: print what may come next"),)
PARAMETERS = ({"name": "SHELL", "type": "str", "required": False}, *parameters(OPTIONS))
HELP = f"""Usage: zaxy completion SHELL

Print a script that completes the words of commands, those of packages too, in bash, zsh, fish or PowerShell.

For bash: eval "$(zaxy completion bash)" in ~/.bashrc

For zsh: eval "$(zaxy completion zsh)" in ~/.zshrc, after compinit

For fish: zaxy completion fish > ~/.config/fish/completions/zaxy.fish

For PowerShell: zaxy completion powershell | Out-String | Invoke-Expression, in $PROFILE

Options:
{help_rows(OPTIONS)}"""


def run(arguments: Sequence[str]) -> int:
    line = CommandLine(OPTIONS, arguments)
    if line.help:
        say_help(HELP)
    elif "--words" in line.values:
        say("\n".join(coming(line.values["--words"].split("\n"))))
    elif len(line.others) == 1 and line.others[0] in SCRIPTS:
        say(SCRIPTS[line.others[0]])
    else:
        raise InvalidRequest(
            f"'zaxy completion' does not take {' '.join(line.others)!r:.60}", f"Name a shell: {', '.join(SCRIPTS)}."
        )
    return 0


def coming(typed: Sequence[str]) -> list[str]:
    """The words that may stand at the end of those that were typed, of which the last is not whole yet."""
    *whole, begun = typed
    if begun.startswith("-"):
        return [name for name in _options(whole) if name.startswith(begun)]
    own = [command.words for command in COMMANDS if not command.hidden or typed[0]]
    commands = [*own, *(command.words for command in package_commands())]
    place = len(whole)
    longer = [words.split() for words in commands if len(words.split()) > place]
    return sorted({words[place] for words in longer if words[:place] == whole and words[place].startswith(begun)})


def _options(typed: Sequence[str]) -> list[str]:
    """Those of the command that was typed; of one of a package only help, since none is imported."""
    from zaxy.contracts.command_lines import command_parameters

    meant = [row for row in COMMANDS if typed[: len(row.words.split())] == row.words.split()]
    names = [name for row in meant for one in command_parameters(row) for name in str(one["name"]).split("/")]
    names += [] if typed else ["--version"]
    return sorted({*(name for name in names if name.startswith("-")), "--help"})
