//! The supervisor's side of a session: spawns the worker process, makes calls with deadlines, notices its end.
