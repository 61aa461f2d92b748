/** `sendlark completion`: prints the script with which a shell completes commands, their words and options. */
import { type Command, choose } from './command.ts';

interface Entry {
  name: string;
  about: string;
  /** The words that may follow the name, such as `create`. */
  words: string[];
  options: string[];
}

/** The options of every command. */
const COMMON_OPTIONS = ['--json', '--help'];

/** Returns the command. Its scripts complete the commands that `loadAll` returns. */
export function completionOf(loadAll: () => Promise<ReadonlyMap<string, Command>>): Command {
  const print = (script: (entries: Entry[]) => string) => async () => console.log(script(entriesOf(await loadAll())));
  return {
    forms: ['completion bash', 'completion zsh', 'completion fish'],
    about: 'Print the script with which a shell completes these commands.',
    help: `bash: sendlark completion bash > /etc/bash_completion.d/sendlark, with the package bash-completion
zsh: sendlark completion zsh > a folder of $fpath, as _sendlark
fish: sendlark completion fish > ~/.config/fish/completions/sendlark.fish
Then start a new shell.`,
    options: {},
    run: (call) => choose(call, { bash: print(bash), zsh: print(zsh), fish: print(fish) }),
  };
}

function entriesOf(all: ReadonlyMap<string, Command>): Entry[] {
  return [...all].map(([name, { about, forms, options }]) => {
    const words = forms.map((form) => /^\S+ ([a-z]+)\b/.exec(form)?.[1]);
    return {
      name,
      about,
      words: [...new Set(words.flatMap((word) => word ?? []))],
      options: [...Object.keys(options).map((option) => `--${option}`), ...COMMON_OPTIONS],
    };
  });
}

function bash(entries: Entry[]): string {
  const cases = entries.map(
    ({ name, words, options }) => `    ${name}) words="${words.join(' ')}"; options="${options.join(' ')}" ;;`,
  );
  return `# bash completion of sendlark
_sendlark() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="" options=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${entries.map(({ name }) => name).join(' ')} help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    help) words="${entries.map(({ name }) => name).join(' ')}" ;;
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _sendlark sendlark`;
}

/** Returns a text between single quotes, for zsh and fish. */
const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "'\\''")}'`;

function zsh(entries: Entry[]): string {
  const commands = entries.map(({ name, about }) => `    ${quote(`${name}:${about}`)}`);
  const cases = entries.map(
    ({ name, words, options }) => `    ${name}) words_of=(${words.join(' ')}); options_of=(${options.join(' ')}) ;;`,
  );
  return `#compdef sendlark
_sendlark() {
  local -a commands words_of options_of
  commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${cases.join('\n')}
    help) _describe command commands; return ;;
  esac
  if [[ "$PREFIX" == -* ]]; then
    compadd -- $options_of
  elif (( CURRENT == 3 && $#words_of > 0 )); then
    compadd -- $words_of
  else
    _files
  fi
}
if [[ "$funcstack[1]" = _sendlark ]]; then _sendlark "$@"; else compdef _sendlark sendlark; fi`;
}

function fish(entries: Entry[]): string {
  const lines = entries.flatMap(({ name, about, words, options }) => [
    `complete -c sendlark -n __fish_use_subcommand -f -a ${name} -d ${quote(about)}`,
    ...(words.length > 0
      ? [
          `complete -c sendlark -n '__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words.join(' ')}' -f -a '${words.join(' ')}'`,
        ]
      : []),
    ...options.map((option) => `complete -c sendlark -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
  ]);
  return ['# fish completion of sendlark', ...lines].join('\n');
}
