#!/bin/sh
# Runs in the guest, once: says on the console what hardware it finds, then lets the watchdog end the machine.
exec >/dev/ttyS0 2>&1
say() { printf '%s=%s\n' "$1" "$2"; }

# The cloud kernel lacks some.
for module in virtiofs isofs i6300esb tpm_tis virtio_rng; do modprobe "$module" 2>/dev/null; done
# What the kernel says meanwhile would stand in the middle of a line.
echo 1 >/proc/sys/kernel/printk
echo report-begin
say cpus "$(nproc)"
say sockets "$(grep '^physical id' /proc/cpuinfo | sort -u | wc -l)"
say hypervisor "$(grep -o -m 1 -w hypervisor /proc/cpuinfo)"
say memory "$(awk '/^MemTotal/ { print $2 }' /proc/meminfo)"
for name in product_uuid product_serial chassis_vendor chassis_asset_tag; do
  say "dmi.$name" "$(cat /sys/class/dmi/id/$name)"
done
say acpi.SLIC "$(wc -c </sys/firmware/acpi/tables/SLIC)"

# Serial numbers: virtio has a file for it, SCSI and ATA a page, from the fifth byte on.
for block in /sys/block/vd* /sys/block/sd*; do
  place=$(readlink -f "$block")
  if [ -e "$block/serial" ]; then
    serial=$(cat "$block/serial")
  else
    serial=$(tail -c +5 "$block/device/vpd_pg80" 2>/dev/null | tr -d ' \0')
  fi
  case $place in
    */usb*) serial=usb ;;
  esac
  say "disk.$serial" "$place"
  case $serial in
    THERE)
      say there.blockSize "$(cat "$block/queue/logical_block_size")"
      say there.readOnly "$(cat "$block/ro")"
      ;;
    SCSI1) say claim.sectors "$(cat "$block/size")" ;;
    METRICS) say disk.metrics "$(head -c 4 "/dev/${block##*/}")" ;;
  esac
done
say cdrom.count "$(ls -d /sys/block/sr* | wc -l)"

mkdir -p /tmp/shared /tmp/settings
mount -t virtiofs shared /tmp/shared && say file.shared "$(cat /tmp/shared/greeting)"
echo 'from the guest' >/tmp/shared/answer && say file.written "$(cat /tmp/shared/answer)"
for drive in /dev/sr*; do
  mount -t iso9660 -o ro "$drive" /tmp/settings 2>/dev/null && say file.settings "$(cat /tmp/settings/colour)"
done

for link in eth0 eth1; do ip link set "$link" up 2>/dev/null; done
# A link comes up a moment after its interface.
for attempt in 1 2 3 4 5; do
  grep -q 1 /sys/class/net/eth?/carrier && break
  sleep 1
done
for link in /sys/class/net/eth*; do
  driver=$(basename "$(readlink -f "$link/device/driver")")
  say "link.$driver" "$(cat "$link/carrier")"
done

say rng "$(cat /sys/class/misc/hw_random/rng_current)"
say tpm "$(cat /sys/class/tpm/tpm0/tpm_version_major)"
say tablet "$(grep -h Tablet /sys/class/input/event*/device/name | head -n 1)"
for port in /sys/class/virtio-ports/*; do
  case $(cat "$port/name") in
    org.qemu.guest_agent.0) say agent yes ;;
    org.github.vhostmd.1) metrics=/dev/${port##*/} ;;
  esac
done
for device in /sys/bus/pci/devices/*; do
  class=$(cut -c 3-6 "$device/class")
  say "pci.$(cut -c 3-6 "$device/vendor").$(cut -c 3-6 "$device/device")" "$class"
done

exec 3<>"$metrics"
printf 'GET /metrics/XML\n\n' >&3
while read -r line <&3; do
  case $line in
    *TotalCPUTime*) say metrics "$line" ;;
    *'</metrics>'*) break ;;
  esac
done
echo report-end

# Where there is a driver for it, nobody feeds the watchdog.
[ -e /dev/watchdog ] && exec 4>/dev/watchdog
sleep 600
