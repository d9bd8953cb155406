-- Whether a customer may use the service. Those that are there may. The release before neither reads nor writes this.
ALTER TABLE "customers" ADD COLUMN "state" TEXT NOT NULL DEFAULT 'active';
ALTER TABLE "customers" ADD CONSTRAINT "customers_state_check" CHECK ("state" IN ('active', 'suspended'));

-- What operators changed. When it was and under which login are the database's own word: nobody is granted these columns.
CREATE TABLE "audit_log" (
  "id" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "actor" TEXT NOT NULL,
  "login" TEXT NOT NULL DEFAULT session_user,
  "command" TEXT NOT NULL,
  "customer_id" TEXT,
  "subject_id" TEXT,
  "details" JSONB NOT NULL DEFAULT '{}',
  CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "audit_log_actor_check" CHECK ("actor" <> ''),
  CONSTRAINT "audit_log_details_check" CHECK (jsonb_typeof("details") = 'object')
);
CREATE INDEX "audit_log_at_idx" ON "audit_log" ("at");
CREATE INDEX "audit_log_customer_id_at_idx" ON "audit_log" ("customer_id", "at");

-- No role but the owner's may try, by the grants. This stops the owner too, and whoever has no roles.
CREATE FUNCTION "refuse_change_of_audit_log"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is only ever added to' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "audit_log_is_only_added_to" BEFORE UPDATE OR DELETE ON "audit_log"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change_of_audit_log"();
CREATE TRIGGER "audit_log_is_never_emptied" BEFORE TRUNCATE ON "audit_log"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change_of_audit_log"();
