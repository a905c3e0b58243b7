int a;
/* this goes
on
