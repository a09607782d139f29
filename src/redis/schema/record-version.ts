/**
 * The version in which this upwave writes records of rollouts and upgrades. It is raised with each change after which
 * an earlier upwave would read a record wrongly. Earlier versions are read; a rollout of which anything was written in
 * a newer one is left alone. Records without a version are of version 1, which has sentences where the second has kinds.
 */
export const recordVersion = 2;
