/** The data of a job in Redis. Everything else about it is in Postgres. */
export interface JobData {
  job_id: string;
}
