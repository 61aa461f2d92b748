/** Reads the settings for commands, and reports those that look misspelt. */
import { type Config, readConfig, SETTINGS } from '../config.ts';
import { environmentFileFaults, readEnvironment } from '../env-file.ts';
import { isNear } from '../errors/edit-distance.ts';
import { warn } from './command.ts';

/** Longer names are not compared with the settings. */
const MAX_NAME_LENGTH = 40;
/** The length in characters up to which a name is recognized with one typing error; longer names are with two. */
const SHORT_NAME = 9;
/** Names that npm sets for the scripts that it runs (npm, "scripts", Environment). */
const SET_BY_NPM = /^(NODE$|npm_)/;

/**
 * Reads the settings as the server does. Reports lines of `.env` that are not read, and names that look like misspelt
 * settings, on standard error.
 */
export function settings(): Config {
  const environment = readEnvironment();
  for (const hint of [...environmentFileFaults(), ...misspelt(environment)]) warn(hint);
  return readConfig(environment);
}

/**
 * Returns one sentence for each name in `environment` that looks like a misspelt setting, because such names would otherwise be
 * ignored silently. The sentences never contain values.
 */
export function misspelt(environment: Readonly<Record<string, string | undefined>>): string[] {
  const names = Object.keys(SETTINGS);
  return Object.keys(environment)
    .filter((name) => environment[name]?.trim() && !names.includes(name) && !SET_BY_NPM.test(name))
    .filter((name) => name.length <= MAX_NAME_LENGTH)
    .flatMap((setting) => {
      const upperCase = setting.toUpperCase().replaceAll('-', '_');
      const near = names.find((name) => isNear(upperCase, name, name.length <= SHORT_NAME ? 1 : 2));
      const [onlyLonger, ...otherLonger] = names.filter((name) => name.startsWith(`${upperCase}_`));
      const meant = near ?? (otherLonger.length === 0 ? onlyLonger : undefined);
      return meant === undefined ? [] : [`${setting} is not a setting and is ignored: did you mean ${meant}?`];
    });
}
