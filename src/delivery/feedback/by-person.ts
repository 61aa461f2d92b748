/** The bits of `deliveries.by_person`: what a person, not only a machine, did with a mail. */
export const BY_PERSON = { opened: 1, clicked: 2 } as const;
