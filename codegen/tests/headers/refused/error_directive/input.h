#ifndef CHOSEN
#    error "choose one" first
#endif
