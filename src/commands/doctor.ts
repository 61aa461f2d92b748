/** `sendlark doctor`: checks everything that sending depends on and explains how to fix each problem. */
import type { Resolver } from 'node:dns/promises';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { findPublicUrl } from '../delivery/links/public-url.ts';
import { openTokens } from '../delivery/links/tokens.ts';
import { relayName } from '../delivery/transport/smtp/relay-urls.ts';
import { checkIntegrity } from '../installation/backups/make-backup.ts';
import { recordDoctorFindings } from '../installation/health-checks/doctor-findings.ts';
import { checkDomains, dnsResolver } from '../installation/health-checks/domain-authentication.ts';
import type { Finding } from '../installation/health-checks/finding.ts';
import { filesCheck, localChecks } from '../installation/health-checks/machine.ts';
import { publicUrlCheck } from '../installation/health-checks/public-url.ts';
import {
  recordReturnedMail,
  returnedMailCheck,
  takesReturnedMail,
} from '../installation/health-checks/returned-mail.ts';
import { nodeChecks } from '../installation/health-checks/service.ts';
import { listSenderDomains } from '../senders/domains.ts';
import { type Command, requireWords } from './command.ts';
import { withDatabase } from './database.ts';
import { configuredRelays, relayChecks } from './doctor/relay.ts';

const MARKS = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

export const doctor: Command = {
  forms: ['doctor [--dns ADDRESS[:PORT]]'],
  about: 'Check settings, database, SMTP servers, DNS; say what to do.',
  help: `Checks settings, disk, clock, the database and its files, SMTP servers and public address, and SPF, DKIM, DMARC and alignment of every sender's domain,
with the records to publish. The dashboard shows the results of the last run. The doctor changes no record. It sends no mail, except a test mail to a
service that receives returned mail. The service may run; for that test it must.
Exit code 0: nothing stops mail (there may be warnings); 1: something stops mail. --dns asks that DNS server.`,
  options: { dns: { type: 'string' } },
  async run(call) {
    requireWords(call);
    const resolver = dnsResolver(call.option('dns'));
    const checks = await withDatabase(async (db, config) => {
      const domains = listSenderDomains(db, config);
      const relays = configuredRelays(db.$client, config);
      const now = Date.now();
      const { spf, perDomain, seen } = await checkDomains(resolver, domains, relays, now);
      const relayFindings = await relayChecks(db.$client, config);
      const relayStates = relays.map((relay, at) => ({
        relay: relayName(relay),
        state: relayFindings[at]?.state ?? ('fail' as const),
      }));
      record(() => recordDoctorFindings(db.$client, { at: now, relays: relayStates, domains: seen }));
      return [
        ...localChecks(db.$client, config, Date.now()),
        ...nodeChecks(db.$client, config, Date.now()),
        databaseCheck(db),
        filesCheck(config),
        ...relayFindings,
        await publicUrlCheck(findPublicUrl(db.$client, config).url, openTokens(db.$client), Date.now()),
        ...(takesReturnedMail(config) ? [await checkReturnedMail(db, config, resolver)] : []),
        ...spf,
        ...perDomain.flat(),
      ];
    });
    const failed = checks.filter(({ state }) => state === 'fail').length;
    call.answer(checks, checks.flatMap(linesOf));
    if (failed > 0) throw new Error(`${failed} of ${checks.length} checks failed`);
  },
};

async function checkReturnedMail(db: Db, config: Config, resolver: Resolver): Promise<Finding> {
  const at = Date.now();
  const finding = await returnedMailCheck(db.$client, config, { resolver, now: at });
  record(() => recordReturnedMail(db.$client, { domain: config.BOUNCE_DOMAIN, at, finding }));
  return finding;
}

/** Records findings for the dashboard. An error does not end the command, because a read-only database is already among the findings. */
function record(write: () => void): void {
  try {
    write();
  } catch (error) {
    console.error(
      `The results could not be stored for the dashboard: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function linesOf({ state, name, found, advice }: Finding): string[] {
  return [`${MARKS[state]}  ${name}: ${found}`, ...(advice ?? []).map((line) => `      ${line}`)];
}

function databaseCheck(db: Db): Finding {
  const integrity = checkIntegrity(db);
  const version = String(db.$client.prepare('SELECT sqlite_version()').pluck().get());
  if (integrity === 'ok') {
    return { name: 'Database', state: 'ok', found: `integrity ok, schema of this release, SQLite ${version}` };
  }
  const advice = ['Stop the service and put the latest backup in place: sendlark restore FILE --force'];
  return { name: 'Database', state: 'fail', found: `damaged: ${integrity}`, advice };
}
