/** The services from which users can migrate, by their names in the API and on the command line. */
import type { Vendor } from '../export-files.ts';
import { brevo } from './brevo.ts';
import { keila } from './keila.ts';
import { listmonk } from './listmonk.ts';
import { mailchimp } from './mailchimp.ts';
import { sendgrid } from './sendgrid.ts';

export const VENDOR_NAMES = ['mailchimp', 'listmonk', 'sendgrid', 'brevo', 'keila'] as const;
export type VendorName = (typeof VENDOR_NAMES)[number];

export const VENDORS: Readonly<Record<VendorName, Vendor>> = { mailchimp, listmonk, sendgrid, brevo, keila };
