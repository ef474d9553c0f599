# Creates, watches and deletes a VirtualMachine with Debian's ruby-kubeclient, which knows nothing of the kind.
require 'kubeclient'

config = Kubeclient::Config.read(ARGV.fetch(0))
context = config.context
client = Kubeclient::Client.new(
  "#{context.api_endpoint}/apis/kubevirt.io", 'v1',
  ssl_options: context.ssl_options, auth_options: context.auth_options
)

before = client.get_virtual_machines(namespace: 'default').resourceVersion
machine = Kubeclient::Resource.new(
  metadata: { name: 'by-ruby', namespace: 'default' },
  spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } }
)
client.create_virtual_machine(machine)
asked_to_go = false
client.watch_virtual_machines(namespace: 'default', resource_version: before) do |event|
  puts "#{event.type} #{event.object.metadata.name}"
  break if event.type == 'DELETED'
  if event.type == 'ADDED'
    client.merge_patch_virtual_machine('by-ruby', { spec: { runStrategy: 'Manual' } }, 'default')
  elsif event.object.spec.runStrategy == 'Manual' && !asked_to_go
    asked_to_go = true
    client.delete_virtual_machine('by-ruby', 'default')
  end
end
