// The kernel of the simulated machine. It is a small cooperative system of its own; only the
// names of its routines follow Windows.
//
// Fields of a thread object: 28 top of its kernel stack, 58 saved stack pointer, f0 user GS base,
// 220 its process, 230 the thread that runs next. Field 28 of a process is its page directory.

module nt

function KiSystemCall64 200000
    swapgs
    mov gs:[0x10], rsp
    mov rsp, gs:[0x1a8]
    push qword ptr gs:[0x10]
    push r11
    push rcx
    push rbp
    push rbx
    push rsi
    push rdi
    sub rsp, 0x20
    mov rcx, r10
    cmp eax, 0x60
    jae unknown
    mov eax, eax
    lea r10, [KiServiceTable]
    call qword ptr [r10+rax*8]
    jmp leave_kernel
unknown:
    mov eax, 0xc000001c
leave_kernel:
    add rsp, 0x20
    pop rdi
    pop rsi
    pop rbx
    pop rbp
    pop rcx
    pop r11
    pop rsp
    swapgs
    sysretq

function KiIdleLoop 200200
again:
    sti
    hlt
    inc qword ptr [KiIdleCycles]
    call KiProcessorIdle
    call KiSwapThread
    jmp again

function KiSwapThread 200280
    push rbx
    push rsi
    push rdi
    push rbp
    mov rbx, gs:[0x188]
    mov rdi, [rbx+0x230]
    cmp rdi, rbx
    je same
    mov [rbx+0x58], rsp
    mov rsp, [rdi+0x58]
    mov gs:[0x188], rdi
    mov rax, [rdi+0x28]
    mov gs:[0x1a8], rax
    mov rax, [rdi+0xf0]
    mov rdx, rax
    shr rdx, 0x20
    mov ecx, 0xc0000102
    wrmsr
    mov rax, [rdi+0x220]
    mov rax, [rax+0x28]
    mov rcx, cr3
    cmp rax, rcx
    je same
    mov cr3, rax
same:
    pop rbp
    pop rdi
    pop rsi
    pop rbx
    ret

function KiStartUserThread 200340
    pop rcx
    pop rax
    mov r11d, 0x202
    mov rsp, rax
    xor eax, eax
    swapgs
    sysretq

function PspSystemThreadStartup 2003a0
    sub rsp, 0x28
again:
    call simdemo!DemoWorker
    call KiSwapThread
    jmp again

function KiDivideErrorFault 200540
    mov ecx, 0x7f
    xor edx, edx
    call KeBugCheckEx
    int3

function KiBreakpointTrap 200580
    iretq

function KiInvalidOpcodeFault 2005c0
    mov ecx, 0x7f
    mov edx, 6
    call KeBugCheckEx
    int3

function KiGeneralProtectionFault 200600
    mov ecx, 0x7f
    mov edx, 0xd
    call KeBugCheckEx
    int3

function KiPageFault 200640
    mov ecx, 0x50
    mov rdx, cr2
    call KeBugCheckEx
    int3

function KiUnexpectedInterrupt 200680
    iretq

function KeBugCheckEx 200800
    cli
    mov [KiBugCheckData], rcx
    mov [KiBugCheckData+8], rdx
    mov [KiBugCheckData+0x10], r8
    mov [KiBugCheckData+0x18], r9
stay:
    hlt
    jmp stay

function KeUpdateSystemTime 200900
    inc qword ptr [KeTickCount]
    mov rax, [KeTickCount]
    imul rax, rax, 0x2625a
    mov [KeInterruptTime], rax
    ret

function KeQueryPerformanceCounter 200980
    rdtsc
    shl rdx, 0x20
    or rax, rdx
    ret

function KiProcessorIdle 200a00
    push rbx
    mov eax, 1
    xor ecx, ecx
    cpuid
    mov ecx, 0x1b
    rdmsr
    call KeQueryPerformanceCounter
    mov gs:[0x40], rax
    pop rbx
    ret

function NtCreateFile 201000
    push rbx
    push rsi
    sub rsp, 0x28
    mov rbx, rcx
    mov rax, [MmUserProbeAddress]
    cmp rbx, rax
    jae bad_pointer
    call IoCreateFile
    jmp done
bad_pointer:
    mov eax, 0xc0000005
done:
    add rsp, 0x28
    pop rsi
    pop rbx
    ret

function NtReadFile 201200
    sub rsp, 0x28
    // rcx handle, rdx buffer, r8 length
    test rcx, rcx
    je bad_handle
    mov rcx, rdx
    lea rdx, [IopSampleText]
    call memmove
    xor eax, eax
    jmp done
bad_handle:
    mov eax, 0xc0000008
done:
    add rsp, 0x28
    ret

function NtClose 201400
    cmp rcx, 0x100
    jb bad_handle
    dec qword ptr [IopOpenFiles]
    xor eax, eax
    ret
bad_handle:
    mov eax, 0xc0000008
    ret

function NtDelayExecution 201500
    sub rsp, 0x28
    call KiSwapThread
    xor eax, eax
    add rsp, 0x28
    ret

function NtQuerySystemInformation 201600
    mov rax, [KeTickCount]
    mov [rdx], rax
    xor eax, eax
    ret

function NtInvalidSystemService 201700
    mov eax, 0xc000001c
    ret

function IoCreateFile 202000
    push rbx
    push rsi
    push rdi
    sub rsp, 0x20
    mov rbx, rcx
    call strlen
    mov rsi, rax
    mov ecx, 0x200
    lea rdx, [rsi+0x10]
    mov r8d, 0x656c6946
    call ExAllocatePoolWithTag
    test rax, rax
    je no_memory
    mov rdi, rax
    mov rcx, rdi
    mov rdx, rbx
    lea r8, [rsi+1]
    call memmove
    mov rcx, rdi
    mov rdx, rsi
    call Ntfs!NtfsFsdCreate
    mov rcx, rdi
    mov edx, 0x656c6946
    call ExFreePoolWithTag
    inc qword ptr [IopOpenFiles]
    mov rax, [IoCreateCount]
    inc rax
    mov [IoCreateCount], rax
    and eax, 0x3f
    lea rax, [rax*4+0x100]
    jmp done
no_memory:
    mov eax, 0xc000009a
done:
    add rsp, 0x20
    pop rdi
    pop rsi
    pop rbx
    ret

function ExAllocatePoolWithTag 203000
    add rdx, 0x1f
    and rdx, 0xfffffffffffffff0
    mov rax, [ExPoolNext]
    lea r9, [rax+rdx]
    cmp r9, [ExPoolEnd]
    jbe fits
    mov rax, [ExPoolStart]
    lea r9, [rax+rdx]
fits:
    mov [ExPoolNext], r9
    mov [rax], edx
    mov [rax+4], r8d
    mov [rax+8], rcx
    inc qword ptr [ExPoolAllocations]
    add rax, 0x10
    ret

function ExFreePoolWithTag 203100
    mov dword ptr [rcx-0xc], 0x65657246
    ret

function memmove 204000
    push rsi
    push rdi
    mov rax, rcx
    mov rdi, rcx
    mov rsi, rdx
    mov rcx, r8
    cld
    rep movsb
    pop rdi
    pop rsi
    ret

function memset 204080
    push rdi
    mov r9, rcx
    mov rdi, rcx
    mov eax, edx
    mov rcx, r8
    cld
    rep stosb
    mov rax, r9
    pop rdi
    ret

function strlen 204100
    xor eax, eax
next:
    cmp byte ptr [rcx+rax], 0
    je done
    inc rax
    jmp next
done:
    ret

function RtlComputeChecksum 204180
    // rcx buffer, rdx length
    xor eax, eax
    test rdx, rdx
    je done
next:
    movzx r8d, byte ptr [rcx]
    rol eax, 5
    xor eax, r8d
    inc rcx
    dec rdx
    jne next
done:
    ret

function PsGetCurrentProcess 204200
    mov rax, gs:[0x188]
    mov rax, [rax+0x220]
    ret

function PsGetCurrentProcessId 204240
    mov rax, gs:[0x188]
    mov rax, [rax+0x220]
    mov rax, [rax+0x440]
    ret

data KiServiceTable 300000 300
data IopSampleText 300400 80
data KeTickCount c00000 8
data KiIdleCycles c00008 8
data KeInterruptTime c00010 8
data PsInitialSystemProcess c00020 8
data PsActiveProcessHead c00030 10
data Kd_DEFAULT_Mask c00040 4
data KdDebuggerEnabled c00048 1
data NtBuildNumber c0004c 4
data ExPoolNext c00050 8
data ExPoolAllocations c00058 8
data ExPoolStart c00060 8
data ExPoolEnd c00068 8
data MmUserProbeAddress c00070 8
data IoCreateCount c00078 8
data IopOpenFiles c00080 8
data NtBuildLab c00100 40
data KiBugCheckData c00200 28

module hal

function HalpTimerClockInterrupt 2000
    push rax
    push rcx
    push rdx
    inc qword ptr [HalpClockTicks]
    call nt!KeUpdateSystemTime
    mov al, 0x20
    out 0x20, al
    pop rdx
    pop rcx
    pop rax
    iretq

function HalReadKeyboardPort 2080
    in al, 0x60
    ret

data HalpClockTicks 8000 8

module Ntfs

function NtfsFsdCreate 3000
    push rbx
    sub rsp, 0x20
    mov rbx, rcx
    inc qword ptr [NtfsCreateCount]
    call nt!RtlComputeChecksum
    mov [NtfsLastNameHash], eax
    test eax, eax
    jne named
    xor eax, eax
    jmp done
named:
    call NtfsCommonCreate
done:
    add rsp, 0x20
    pop rbx
    ret

function NtfsCommonCreate 3100
    mov ecx, [NtfsLastNameHash]
    xor edx, edx
    mov eax, ecx
    mov r8d, 0x3f
    div r8d
    lea r9, [NtfsBuckets]
    inc dword ptr [r9+rdx*4]
    xor eax, eax
    ret

data NtfsCreateCount 8000 8
data NtfsLastNameHash 8008 4
data NtfsBuckets 8100 100

module simdemo

function DriverEntry 1000
    lea rax, [DemoDispatch]
    mov [DemoHandler], rax
    xor eax, eax
    ret

function DemoWorker 1080
    push rbx
    sub rsp, 0x20
    inc qword ptr [DemoCounter]
    mov ecx, [DemoCounter]
    and ecx, 0xf
    call DemoFibonacci
    mov rcx, rax
    mov rax, [DemoHandler]
    test rax, rax
    je done
    call rax
done:
    add rsp, 0x20
    pop rbx
    ret

function DemoFibonacci 1100
    xor eax, eax
    mov edx, 1
    test ecx, ecx
    je done
next:
    mov r8, rdx
    add rdx, rax
    mov rax, r8
    dec ecx
    jne next
done:
    ret

function DemoDispatch 1180
    mov [DemoLastResult], rcx
    cmp rcx, 0x64
    setae byte ptr [DemoIsLarge]
    mov eax, 1
    cmovae eax, ecx
    ret

data DemoCounter 8000 8
data DemoLastResult 8008 8
data DemoHandler 8010 8
data DemoIsLarge 8018 1
data DemoBanner 8100 40
