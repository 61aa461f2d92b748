#!/usr/bin/env bash
# Generates clients in TypeScript, Python and Go from the OpenAPI document of a running service, compiles them, and lets each add a list and
# a contact, list the contacts, send a transactional mail and read an error. For hand use, with Node, Python, Go and a network:
#
#     scripts/clients/generated.sh http://127.0.0.1:3000 PUBLIC_KEY SECRET_KEY
#
# The service needs a new database with one sender, whose id is 1, and SENDER_VERIFICATION=optional or a confirmed sender. Last run on 28 November 2026, with the versions named below: no piece was left out.
set -euo pipefail
export SENDLARK_URL=$1 SENDLARK_PUBLIC_KEY=$2 SENDLARK_SECRET_KEY=$3
folder=$(mktemp -d)
# Go makes its modules read-only.
trap 'chmod -R u+w "$folder" && rm -rf "$folder"' EXIT
cd "$folder"
curl -sfo openapi.json "$SENDLARK_URL/docs/openapi.json"

echo '== TypeScript: @hey-api/openapi-ts 0.99.0, typescript 5.9.3'
mkdir typescript && cd typescript
npm init -y > /dev/null
npm pkg set type=module
npm install --silent @hey-api/openapi-ts@0.99.0 typescript@5.9.3 tsx@4 @types/node@24
npx openapi-ts -i ../openapi.json -o client
cat > use.ts <<'USE'
import { client } from './client/client.gen';
import { getContactsList, postContactsAdd, postContactsTypeAdd, getContactsType, postTransactionalSend } from './client/sdk.gen';

const { SENDLARK_URL = '', SENDLARK_PUBLIC_KEY = '', SENDLARK_SECRET_KEY = '' } = process.env;
client.setConfig({
  baseUrl: SENDLARK_URL,
  headers: { PublicKey: SENDLARK_PUBLIC_KEY, SecretKey: SENDLARK_SECRET_KEY },
});
await postContactsTypeAdd({ body: { name: 'From TypeScript' }, throwOnError: true });
const { data: lists } = await getContactsType({ throwOnError: true });
const list = lists.message.contactTypes.find(({ name }) => name === 'From TypeScript')?.id ?? 0;
const contact = { contact_type_id: list, email: 'typescript@example.org', country: 84 };
await postContactsAdd({ body: contact, throwOnError: true });
const { data: found } = await getContactsList({ query: { contact_type_id: list }, throwOnError: true });
console.log(found.message.contacts.map(({ email }) => email));
const mail = { sender_id: 1, email: contact.email, subject: 'Receipt', text: 'Thank you' };
const { data: sent } = await postTransactionalSend({
  body: mail,
  headers: { 'Idempotency-Key': `typescript ${Date.now()}` },
  throwOnError: true,
});
console.log(sent.message.utr);
const { error, response } = await postContactsAdd({ body: { ...contact, email: 'nonsense' } });
console.log(response?.status, error?.errors);
USE
npx tsc --noEmit --strict --target es2022 --module esnext --moduleResolution bundler --types node use.ts
npx tsx use.ts
cd ..

echo '== Python: openapi-python-client 0.29.1'
python3 -m venv venv
venv/bin/pip -q install openapi-python-client==0.29.1 ruff
echo 'content_type_overrides: {application/vnd.sqlite3: application/octet-stream, message/rfc822: application/octet-stream}' > python.yaml
PATH=$PWD/venv/bin:$PATH openapi-python-client generate --path openapi.json --config python.yaml --output-path python 2>&1 | tee python.log
if grep -q 'WARNING\|pieces may be missing' python.log; then exit 1; fi
cat > python/use.py <<'USE'
import os
import time

from sendlark_client import Client
from sendlark_client.api.contacts import get_contacts_list, post_contacts_add
from sendlark_client.api.lists_contact_types import get_contacts_type, post_contacts_type_add
from sendlark_client.api.transactional_mail import post_transactional_send
from sendlark_client.models import PostContactsAddBody, PostContactsTypeAddBody, PostTransactionalSendBody

keys = {"PublicKey": os.environ["SENDLARK_PUBLIC_KEY"], "SecretKey": os.environ["SENDLARK_SECRET_KEY"]}
client = Client(base_url=os.environ["SENDLARK_URL"], headers=keys)
post_contacts_type_add.sync(client=client, body=PostContactsTypeAddBody(name="From Python"))
lists = get_contacts_type.sync(client=client).message.contact_types
list_id = next(one.id for one in lists if one.name == "From Python")
contact = PostContactsAddBody(contact_type_id=list_id, email="python@example.org", country=84)
post_contacts_add.sync(client=client, body=contact)
found = get_contacts_list.sync(client=client, contact_type_id=list_id)
print([one.email for one in found.message.contacts])
mail = PostTransactionalSendBody(sender_id=1, email=contact.email, subject="Receipt", text="Thank you")
print(post_transactional_send.sync(client=client, body=mail, idempotency_key=f"python {time.time()}").message.utr)
contact.email = "nonsense"
refused = post_contacts_add.sync_detailed(client=client, body=contact)
print(refused.status_code, refused.parsed.errors.to_dict())
USE
venv/bin/python -m compileall -q python/sendlark_client
PYTHONPATH=python venv/bin/python python/use.py

echo '== Go: oapi-codegen 2.8.2'
mkdir -p go/sendlark && cd go
cat > config.yaml <<'CONFIG'
package: sendlark
output: sendlark/sendlark.go
generate: { models: true, client: true }
output-options: { skip-prune: true }
CONFIG
go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config config.yaml ../openapi.json
cat > main.go <<'USE'
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"example.com/use/sendlark"
	"github.com/oapi-codegen/runtime/types"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	client := must(sendlark.NewClientWithResponses(os.Getenv("SENDLARK_URL"), sendlark.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("PublicKey", os.Getenv("SENDLARK_PUBLIC_KEY"))
			request.Header.Set("SecretKey", os.Getenv("SENDLARK_SECRET_KEY"))
			return nil
		})))
	must(client.PostContactsTypeAddWithResponse(ctx, sendlark.PostContactsTypeAddBody{Name: "From Go"}))
	var list sendlark.Id
	for _, one := range must(client.GetContactsTypeWithResponse(ctx, nil)).JSON200.Message.ContactTypes {
		if one.Name == "From Go" {
			list = one.Id
		}
	}
	contact := sendlark.PostContactsAddBody{ContactTypeId: list, Email: types.Email("go@example.org"), Country: 84}
	must(client.PostContactsAddWithResponse(ctx, contact))
	found := must(client.GetContactsListWithResponse(ctx, &sendlark.GetContactsListParams{ContactTypeId: &list}))
	for _, one := range found.JSON200.Message.Contacts {
		fmt.Println(one.Email)
	}
	key, text := fmt.Sprint("go ", time.Now().UnixNano()), "Thank you"
	mail := sendlark.PostTransactionalSendBody{SenderId: 1, Email: contact.Email, Subject: "Receipt", Text: &text}
	sent := must(client.PostTransactionalSendWithResponse(ctx, &sendlark.PostTransactionalSendParams{IdempotencyKey: &key}, mail))
	fmt.Println(sent.JSON200.Message.Utr)
	nonsense := strings.NewReader(fmt.Sprintf(`{"contact_type_id": %d, "country": 84, "email": "nonsense"}`, list))
	refused := must(client.PostContactsAddWithBodyWithResponse(ctx, "application/json", nonsense))
	texts := must(refused.JSON422.Errors.AsFailureErrors1())
	fmt.Println(refused.StatusCode(), texts)
}
USE
go mod init example.com/use 2> /dev/null
go mod tidy 2> /dev/null
go vet ./...
go run .
