// User mode: the system call stubs, and the program that three processes run.

module ntdll

function NtReadFile 9d100
    mov r10, rcx
    mov eax, 6
    syscall
    ret

function NtClose 9d180
    mov r10, rcx
    mov eax, 0xf
    syscall
    ret

function NtDelayExecution 9d200
    mov r10, rcx
    mov eax, 0x34
    syscall
    ret

function NtQuerySystemInformation 9d280
    mov r10, rcx
    mov eax, 0x36
    syscall
    ret

function NtCreateFile 9d300
    mov r10, rcx
    mov eax, 0x55
    syscall
    ret

module kernel32

function CreateFileA 24000
    sub rsp, 0x28
    test rcx, rcx
    je no_name
    call ntdll!NtCreateFile
    jmp done
no_name:
    mov rax, 0xffffffffffffffff
done:
    add rsp, 0x28
    ret

function Sleep 24100
    sub rsp, 0x28
    call ntdll!NtDelayExecution
    add rsp, 0x28
    ret
