//! Asks Windows.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use windows_registry::{CURRENT_USER, LOCAL_MACHINE};

use super::facts::{Facts, Probe, Processor, parse_boot_entry};
use crate::discovery::places::DRIVER_SERVICE;
use crate::engine::system;

/// Time for bcdedit.
const BCDEDIT: Duration = Duration::from_secs(10);

/// `CREATE_NO_WINDOW`.
const NO_WINDOW: u32 = 0x0800_0000;

/// Asks everything.
pub(super) async fn gather() -> Facts {
    let told = |error: std::io::Error| error.to_string();
    Facts {
        wine: CURRENT_USER.open(r"Software\Wine").is_ok() || LOCAL_MACHINE.open(r"Software\Wine").is_ok(),
        administrator: system::is_administrator().map_err(told),
        code_integrity: system::code_integrity_options().map_err(told),
        isolated: system::isolated_user_mode().map_err(told),
        memory_integrity_configured: memory_integrity_configured(),
        kernel_debugger: system::kernel_debugger().map_err(told),
        start_options: LOCAL_MACHINE
            .open(r"SYSTEM\CurrentControlSet\Control")
            .and_then(|key| key.get_string("SystemStartOptions"))
            .map_err(|error| error.to_string()),
        boot_entry: boot_entry().await,
        processor: processor(),
        driver: system::service_state(DRIVER_SERVICE).map_err(told),
        running: system::running_programs().map_err(told),
    }
}

fn memory_integrity_configured() -> Probe<bool> {
    let key = r"SYSTEM\CurrentControlSet\Control\DeviceGuard\Scenarios\HypervisorEnforcedCodeIntegrity";
    match LOCAL_MACHINE.open(key) {
        Ok(key) => Ok(key.get_u32("Enabled").is_ok_and(|value| value != 0)),
        // Never configured.
        Err(error) if error.code().0 == 0x8007_0002_u32.cast_signed() => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

/// What bcdedit prints of the current entry: the tool of the system's own folder, by its whole path.
async fn boot_entry() -> Probe<BTreeMap<String, String>> {
    let tool = system::system_folder()
        .map_err(|error| format!("the system's folder is unknown: {error}"))?
        .join("bcdedit.exe");
    if !tool.is_file() {
        return Err(format!("{} is not there", tool.display()));
    }
    let run = Command::new(&tool)
        .args(["/enum", "{current}"])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .creation_flags(NO_WINDOW)
        .output();
    let output = match tokio::time::timeout(BCDEDIT, run).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("bcdedit cannot be run: {error}")),
        Err(_) => return Err(format!("bcdedit did not end within {} s", BCDEDIT.as_secs())),
    };
    match output.status.success() {
        true => Ok(parse_boot_entry(&String::from_utf8_lossy(&output.stdout))),
        false => Err("bcdedit refused; it works for administrators only".to_owned()),
    }
}

#[cfg(target_arch = "x86_64")]
fn processor() -> Probe<Processor> {
    let cpu = raw_cpuid::CpuId::new();
    let vendor = cpu
        .get_vendor_info()
        .ok_or("the processor does not identify itself")?;
    let features = cpu
        .get_feature_info()
        .ok_or("the processor does not tell its features")?;
    let hypervisor = features
        .has_hypervisor()
        .then(|| match cpu.get_hypervisor_info() {
            Some(info) => format!("{:?}", info.identify()),
            None => "unnamed".to_owned(),
        });
    Ok(Processor {
        vendor: vendor.as_str().to_owned(),
        vmx: features.has_vmx(),
        hypervisor,
        second_level_translation: system::has_second_level_translation(),
        firmware_allows: system::firmware_allows_virtualization(),
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> Probe<Processor> {
    Err("this is no x64 processor".to_owned())
}
