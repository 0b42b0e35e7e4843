// A second verifier of exported memory, written from docs/export-contract.md alone, for Node and its own crypto.
//
//   node export_verifier.mjs FILE [PUBLIC_KEY_HEX]     verifies a file; prints JSON, exit code 0 or 1
//   node export_verifier.mjs --vectors FILE            judges test vectors; prints what it makes of each

import { createHash, createPublicKey, verify as verifySignature } from "node:crypto";
import { readFileSync } from "node:fs";

const VERSION = "zaxy.portable.v1";
const SCHEMA = "zaxy.export.v1";
const SOURCES = new Map([["event", "eventloom"], ["semantic", "extraction"]]);
const HEX = /^(?:[0-9a-f]{2})*$/;
const HASH = /^[0-9a-f]{64}$/;

class Refused extends Error {
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

const need = (holds, reason) => {
  if (!holds) throw new Refused(reason);
};
const isText = (value) => typeof value === "string";
const isInteger = (value) => Number.isSafeInteger(value);
const isObject = (value) => value instanceof Map;

// JSON: objects become Maps, so that a field that comes twice is seen, and "__proto__" is a name like others.

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  whole() {
    const value = this.value();
    this.space();
    need(this.at === this.text.length, "not_json");
    return value;
  }

  space() {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at++;
  }

  next() {
    this.space();
    return this.text[this.at];
  }

  value() {
    const first = this.next();
    if (first === "{") return this.object();
    if (first === "[") return this.list();
    if (first === '"') return this.string();
    const found = this.match(/true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y);
    if (found === "true") return true;
    if (found === "false") return false;
    return found === "null" ? null : Number(found);
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    need(found, "not_json");
    this.at = pattern.lastIndex;
    return found[0];
  }

  string() {
    this.space();
    const literal = this.match(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
    return JSON.parse(literal);
  }

  list() {
    const items = [];
    this.at++;
    if (this.next() === "]") this.at++;
    else do items.push(this.value()); while (this.goesOn("]"));
    return items;
  }

  object() {
    const fields = new Map();
    this.at++;
    if (this.next() === "}") {
      this.at++;
      return fields;
    }
    do {
      const name = this.string();
      need(this.next() === ":", "not_json");
      this.at++;
      need(!fields.has(name), "duplicate_field");
      fields.set(name, this.value());
    } while (this.goesOn("}"));
    return fields;
  }

  goesOn(end) {
    const mark = this.next();
    need(mark === "," || mark === end, "not_json");
    this.at++;
    return mark === ",";
  }
}

function parse(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return new Reader(text).whole();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw new Refused("not_json");
    throw error;
  }
}

// RFC 8785 takes numbers, texts and the order of keys from ECMAScript itself.

function canonical(value, levels) {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    need(Number.isFinite(value), "no_canonical_form");
    return JSON.stringify(value);
  }
  if (isText(value)) {
    need(value.isWellFormed(), "no_canonical_form");
    return JSON.stringify(value);
  }
  need(levels > 0, "no_canonical_form");
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, levels - 1)).join(",")}]`;
  const names = [...value.keys()].sort(); // by UTF-16 code units
  const fields = names.map((name) => `${canonical(name, 1)}:${canonical(value.get(name), levels - 1)}`);
  return `{${fields.join(",")}}`;
}

// The tree

function sha256(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const leafOf = (id) => sha256(Buffer.from([0]), id);
const node = (left, right) => sha256(Buffer.from([1]), left, right);
const idOf = (entry) => sha256(canonical(entry, 67));

function rootOf(leaves) {
  if (!leaves.length) return sha256("");
  let level = leaves;
  while (level.length > 1) {
    const above = [];
    for (let at = 0; at < level.length; at += 2) {
      above.push(at + 1 < level.length ? node(level[at], level[at + 1]) : level[at]);
    }
    level = above;
  }
  return level[0];
}

function levels(count) {
  return count > 1 ? (count - 1).toString(2).length : 0;
}

function rootByProof(leaf, index, count, proof) {
  if (index < 0 || index >= count) return null;
  let found = leaf;
  let taken = 0;
  for (let n = index, last = count - 1; last > 0; n = Math.floor(n / 2), last = Math.floor(last / 2)) {
    if (n % 2 === 0 && n === last) continue;
    if (taken === proof.length) return null;
    const [hash, side] = proof[taken++];
    if (side !== (n % 2 ? "left" : "right")) return null;
    const sibling = Buffer.from(hash, "hex");
    found = n % 2 ? node(sibling, found) : node(found, sibling);
  }
  return taken === proof.length ? found : null;
}

const isStep = (step) => Array.isArray(step) && step.length === 2 && isText(step[0]) && HASH.test(step[0]);

// The steps of the page

function verify(bytes, expectedKey) {
  const bundle = parse(bytes);
  need(isObject(bundle), "not_json");
  need(isText(bundle.get("version")) && bundle.has("entries") !== bundle.has("disclosed"), "wrong_shape");
  const isWhole = bundle.has("entries");
  const items = bundle.get(isWhole ? "entries" : "disclosed");
  need(Array.isArray(items), "wrong_shape");
  need(items.every((item) => isObject(item) && isObject(item.get("content"))), "wrong_shape");
  need(bundle.get("version") === VERSION, "wrong_version");
  for (const item of items) canonical(item, 67);
  const header = new Map([...bundle].filter(([name]) => !["entries", "disclosed", "signature"].includes(name)));
  const message = Buffer.from(`${VERSION}\n${canonical(header, 64)}`);
  checkHeader(bundle);
  if (isWhole) checkWhole(bundle, items);
  else checkSubset(bundle, items);
  checkEntries(items.map((item) => item.get("content")), bundle.get("session_id"));
  need(!expectedKey || bundle.get("public_key") === expectedKey.trim().toLowerCase(), "wrong_key");
  checkSignature(bundle, message);
  const told = ["session_id", "algorithm", "public_key", "created_at", "merkle_root"];
  return {
    shape: isWhole ? "signed bundle" : "disclosed subset",
    entries: items.length,
    of: bundle.get("entry_count"),
    ...Object.fromEntries(told.map((name) => [name, bundle.get(name)])),
  };
}

function checkHeader(bundle) {
  const hex = ["public_key", "nonce", "merkle_root", "signature"];
  need(bundle.has("anchor") && isText(bundle.get("algorithm")), "wrong_header");
  need(hex.every((name) => isText(bundle.get(name)) && HEX.test(bundle.get(name))), "wrong_header");
  const session = bundle.get("session_id");
  need(isText(session) && /^[A-Za-z0-9_.-]{1,128}$/.test(session), "wrong_header");
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|\+00:00)$/;
  need(isText(bundle.get("created_at")) && time.test(bundle.get("created_at")), "wrong_header");
  need(isInteger(bundle.get("entry_count")) && bundle.get("entry_count") >= 0, "wrong_header");
}

function checkWhole(bundle, items) {
  const ids = items.map((item) => idOf(item.get("content")));
  items.forEach((item, at) => need(item.get("id") === ids[at].toString("hex"), "wrong_id"));
  need(bundle.get("entry_count") === items.length, "wrong_count");
  need(rootOf(ids.map(leafOf)).toString("hex") === bundle.get("merkle_root"), "wrong_root");
}

function checkSubset(bundle, items) {
  const count = bundle.get("entry_count");
  let before = -1;
  for (const item of items) {
    const [index, proof] = [item.get("index"), item.get("proof")];
    need(Array.isArray(proof) && proof.length <= levels(count) && proof.every(isStep), "wrong_proof");
    need(isInteger(index) && before < index && index < count, "wrong_index");
    const root = rootByProof(leafOf(idOf(item.get("content"))), index, count, proof);
    need(root !== null && root.toString("hex") === bundle.get("merkle_root"), "wrong_proof");
    before = index;
  }
}

function checkEntries(entries, session) {
  let last = { seq: 0, citation: "" };
  for (const entry of entries) {
    const [seq, citation, grain] = [entry.get("seq"), entry.get("citation"), entry.get("grain")];
    need(entry.get("schema_version") === SCHEMA, "wrong_entry");
    need(SOURCES.has(grain) && SOURCES.get(grain) === entry.get("source"), "wrong_entry");
    need(isText(entry.get("kind")) && isInteger(seq) && seq >= 1 && isObject(entry.get("content")), "wrong_entry");
    for (const name of ["valid_from", "valid_to"]) {
      need(entry.has(name) && (entry.get(name) === null || isText(entry.get(name))), "wrong_entry");
    }
    const parts = isText(citation) ? /^eventloom:\/\/([^/#]*)\/events\/([0-9]+)#([0-9a-f]{64})$/.exec(citation) : null;
    need(parts && parts[2] === String(seq), "wrong_entry");
    need(parts[1] === session, "wrong_session");
    need(seq !== last.seq || citation === last.citation, "wrong_entry");
    need(seq > last.seq || (seq === last.seq && grain !== "event"), "wrong_order");
    last = { seq, citation };
  }
}

function checkSignature(bundle, message) {
  const key = keyOf(bundle.get("algorithm"), Buffer.from(bundle.get("public_key"), "hex"));
  const signature = Buffer.from(bundle.get("signature"), "hex");
  need(key !== null && verifySignature(null, message, key, signature), "wrong_signature");
}

function keyOf(algorithm, raw) {
  // This Node has Ed25519; ML-DSA came to node:crypto with Node 24.
  need(algorithm === "ed25519", "unknown_algorithm");
  if (raw.length !== 32) return null;
  const jwk = { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") };
  return createPublicKey({ key: jwk, format: "jwk" });
}

// The two ways to call it

function judged(bytes, expectedKey) {
  try {
    return { reason: null, proves: verify(bytes, expectedKey) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { reason: error.reason };
  }
}

function judgedVectors(vectors) {
  const form = (text) => {
    try {
      return canonical(parse(Buffer.from(text)), 64);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return null;
    }
  };
  const leaf = (number) => leafOf(sha256(String(number)));
  const leads = ({ index, count, root, proof, good }) =>
    rootByProof(leaf(good ? index : 4), index, count, proof)?.toString("hex") === root;
  return {
    canonical: vectors.canonical.map((vector) => form(vector.json)),
    entries: vectors.entries.map((vector) => {
      const id = idOf(parse(Buffer.from(vector.canonical)));
      return { id: id.toString("hex"), leaf: leafOf(id).toString("hex") };
    }),
    trees: vectors.trees.map(({ count }) => rootOf(Array.from({ length: count }, (_, at) => leaf(at))).toString("hex")),
    proofs: vectors.proofs.map(leads),
    files: vectors.files.map(({ file, file_hex, expect_public_key }) =>
      judged(file_hex === undefined ? Buffer.from(file) : Buffer.from(file_hex, "hex"), expect_public_key),
    ),
  };
}

const [first, second] = process.argv.slice(2);
if (first === "--vectors") {
  process.stdout.write(JSON.stringify(judgedVectors(JSON.parse(readFileSync(second, "utf-8")))));
} else {
  const found = judged(readFileSync(first), second);
  process.stdout.write(`${JSON.stringify(found)}\n`);
  process.exitCode = found.reason === null ? 0 : 1;
}
