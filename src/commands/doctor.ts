/** `sendlark doctor`: checks everything that sending depends on and says how to fix what is wrong. */
import type { Db } from '../database/open.ts';
import { publicAddress } from '../delivery/links/public-address.ts';
import { openTokens } from '../delivery/links/tokens.ts';
import { relayName } from '../delivery/transport/smtp/relay-urls.ts';
import { checkDomains, dnsResolver } from '../health-checks/dns/check-domains.ts';
import { type DoctorFindings, recordDoctorFindings } from '../health-checks/doctor-findings.ts';
import { filesCheck } from '../health-checks/files.ts';
import type { Finding } from '../health-checks/finding.ts';
import { localChecks } from '../health-checks/local.ts';
import { nodeChecks } from '../health-checks/nodes.ts';
import { publicAddressCheck } from '../health-checks/public-address.ts';
import { listSenderDomains } from '../senders/domains.ts';
import { type Command, requireWords } from './command.ts';
import { withDatabase } from './database.ts';
import { databaseCheck } from './doctor/integrity.ts';
import { configuredRelays, relayChecks } from './doctor/relay.ts';

const MARKS = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

export const doctor: Command = {
  forms: ['doctor [--dns ADDRESS[:PORT]]'],
  about: 'Check settings, database, relay, DNS; say what to do.',
  help: `Looks at the settings, disk, clock, database, its files, relay and public address, and at SPF, DKIM, DMARC and alignment of every sender's domain,
with the records to paste. Sends no mail and changes no record; the dashboard shows what it saw of relay and DNS. The service may run meanwhile.
Exit code 0: nothing that stops mail (warnings may be there); 1: something does. --dns asks that server.`,
  options: { dns: { type: 'string' } },
  async run(call) {
    requireWords(call);
    const resolver = dnsResolver(call.option('dns'));
    const checks = await withDatabase(async (db, config) => {
      const domains = listSenderDomains(db, config);
      const relays = configuredRelays(db.$client, config);
      const at = Date.now();
      const { spf, perDomain, seen } = await checkDomains(resolver, domains, relays, at);
      const relayFindings = await relayChecks(db.$client, config);
      remember(db, {
        at,
        relays: relays.map((relay, at) => ({ relay: relayName(relay), state: relayFindings[at]?.state ?? 'fail' })),
        domains: seen,
      });
      return [
        ...localChecks(db.$client, config, Date.now()),
        ...nodeChecks(db.$client, config, Date.now()),
        databaseCheck(db),
        filesCheck(config),
        ...relayFindings,
        await publicAddressCheck(publicAddress(db.$client, config).url, openTokens(db.$client), Date.now()),
        ...spf,
        ...perDomain.flat(),
      ];
    });
    const failed = checks.filter(({ state }) => state === 'fail').length;
    call.answer(checks, checks.flatMap(linesOf));
    if (failed > 0) throw new Error(`${failed} of ${checks.length} checks failed`);
  },
};

/** Keeps what was seen for the dashboard. A database that cannot be written to is among the findings, so this does not end the command. */
function remember(db: Db, findings: DoctorFindings): void {
  try {
    recordDoctorFindings(db.$client, findings);
  } catch (error) {
    console.error(
      `What was seen could not be kept for the dashboard: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function linesOf({ state, name, found, advice }: Finding): string[] {
  return [`${MARKS[state]}  ${name}: ${found}`, ...(advice ?? []).map((line) => `      ${line}`)];
}
