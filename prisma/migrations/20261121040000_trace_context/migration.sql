-- AlterTable
ALTER TABLE "assets" ADD COLUMN "trace_parent" TEXT;

-- AlterTable
ALTER TABLE "preparations" ADD COLUMN "trace_parent" TEXT;

-- AlterTable
ALTER TABLE "renders" ADD COLUMN "trace_parent" TEXT;
