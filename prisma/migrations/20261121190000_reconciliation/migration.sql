-- When reconciliation last ran, so that a gap is noticed: the database was away, or is a backup of an earlier time. One
-- row, from the first run on.
CREATE TABLE "reconciliation" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "ran_at" TIMESTAMPTZ(3) NOT NULL,
    -- When it went on after its last gap; null: there was none.
    "resumed_at" TIMESTAMPTZ(3),

    CONSTRAINT "reconciliation_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "reconciliation_single_check" CHECK ("id" = 1)
);
