-- What a key is for, who issued it, and from when on it is refused: null for keys from before, and where nobody said.
ALTER TABLE "api_keys" ADD COLUMN "name" TEXT, ADD COLUMN "issued_by" TEXT, ADD COLUMN "expires_at" TIMESTAMPTZ(3);
