/** A sample of contacts, each with a link to the contact's page. */

interface PeopleSampleProps {
  contacts: readonly { id: number; fullname: string; email: string }[];
}

/** A few contacts by name and address. */
export function PeopleSample({ contacts }: PeopleSampleProps) {
  return (
    <ul class="people-sample">
      {contacts.map(({ id, fullname, email }) => (
        <li key={id}>
          <a href={`/contacts/${id}`}>
            <bdi>{fullname || email}</bdi>
          </a>{' '}
          {fullname && (
            <small class="quiet-text">
              <bdi>{email}</bdi>
            </small>
          )}
        </li>
      ))}
    </ul>
  );
}
