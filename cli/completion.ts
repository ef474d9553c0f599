/**
 * `kubectl virt completion`: scripts that let a shell complete commands, flags and names of machines. They ask
 * `kubectl-virt __complete WORDS`, as does kubectl itself through an executable `kubectl_complete-virt`.
 */
import type { Command } from './command.js';
import { UsageError } from './errors.js';

const bash = `_kubectl_virt() {
  local IFS=$'\\n'
  COMPREPLY=($(kubectl-virt __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | grep -v '^:'))
}
complete -F _kubectl_virt kubectl-virt
`;

const zsh = `#compdef kubectl-virt
_kubectl_virt() {
  local -a found
  found=("\${(@f)$(kubectl-virt __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | grep -v '^:')}")
  compadd -a found
}
compdef _kubectl_virt kubectl-virt
`;

const fish = `function __kubectl_virt_complete
  set -l words (commandline -opc) (commandline -ct)
  kubectl-virt __complete $words[2..-1] 2>/dev/null | string match -v ':*'
end
complete -c kubectl-virt -f -a '(__kubectl_virt_complete)'
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

export const completion: Command = {
  name: 'completion',
  synopsis: '(bash | zsh | fish)',
  summary: 'print a script that completes commands and names in your shell',
  options: {},
  optionHelp: {},
  runLocally(terminal, _values, positionals) {
    const [shell = '', ...rest] = positionals;
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (script === undefined || rest.length > 0)
      return Promise.reject(new UsageError(`for which shell? Write ${Object.keys(scripts).join(', ')}`));
    terminal.output.write(script);
    return Promise.resolve();
  },
};
