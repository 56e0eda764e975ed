import Foundation
import TestSupport
import Testing

/// A network of two machines: this one, and a network namespace that two cables (pairs of virtual interfaces) connect with it. One can be
/// pulled out: it passes nothing then, and ends no connection.
struct NetworkNamespace: Sendable {
    /// The name of the namespace.
    let name: String
    /// The address of this machine on the cable that can be pulled out.
    let address: String
    /// The address of the namespace on the other cable, for clients.
    let clientAddress: String
    /// The address of this machine on that cable.
    let machineAddress: String
    private let interface: String

    /// A failed command.
    struct Failure: Error {
        let result: CommandResult
    }

    /// The text of a test that is skipped.
    static let requirement: Comment = "Network namespaces need root, iproute2 (ip), and a kernel or container that permits them."

    /// True if the process may make network namespaces, which requires root, iproute2, and a kernel or container that permits it.
    static let isAvailable: Bool = {
        let name = "hearth-\(UUID().uuidString.prefix(8))"
        let link = "ip link add \(name.prefix(14)) type veth peer name eth0 netns \(name)"
        let script = """
            PATH=$PATH:/usr/sbin:/sbin
            ip netns add \(name) && \(link) && ip netns exec \(name) true
            code=$?
            ip netns delete \(name)
            exit $code
            """
        return (try? ChildProcess.run("/bin/sh", ["-c", script])) == .code(0)
    }()

    /// Calls `body` with a namespace, and removes it afterward.
    static func with(_ body: (NetworkNamespace) async throws -> Void) async throws {
        let id = UUID().uuidString.prefix(8).lowercased()
        // Addresses for measurements, which no network uses.
        let prefix = "198.18.\(Int.random(in: 0...255)).\(Int.random(in: 0...31) * 8)".split(separator: ".")
        let base = Int(prefix[3]) ?? 0
        let network = prefix.dropLast().joined(separator: ".")
        let namespace = NetworkNamespace(
            name: "hearth-\(id)",
            address: "\(network).\(base + 1)",
            clientAddress: "\(network).\(base + 6)",
            machineAddress: "\(network).\(base + 5)",
            interface: "ve\(id)"
        )
        do {
            try await namespace.run(
                """
                ip netns add \(namespace.name)
                ip link add \(namespace.interface) type veth peer name eth0 netns \(namespace.name)
                ip address add \(namespace.address)/30 dev \(namespace.interface)
                ip -netns \(namespace.name) address add \(network).\(base + 2)/30 dev eth0
                ip -netns \(namespace.name) link set lo up
                ip -netns \(namespace.name) link set eth0 up
                ip link set \(namespace.interface) up
                ip link add vc\(id) type veth peer name eth1 netns \(namespace.name)
                ip address add \(network).\(base + 5)/30 dev vc\(id)
                ip -netns \(namespace.name) address add \(namespace.clientAddress)/30 dev eth1
                ip -netns \(namespace.name) link set eth1 up
                ip link set vc\(id) up
                """
            )
            try await body(namespace)
        } catch {
            try await namespace.remove()
            throw error
        }
        try await namespace.remove()
    }

    /// Plugs the cable in or out. What is sent meanwhile is lost.
    func setConnected(_ isConnected: Bool) async throws {
        try await run("ip link set \(interface) \(isConnected ? "up" : "down")")
    }

    /// Runs a shell command line in the namespace, in which `$HEARTH` is the executable.
    func shell(_ line: String) async throws -> CommandResult {
        try await EndToEnd.shell("PATH=$PATH:/usr/sbin:/sbin; \(command) bash -c '\(line)'")
    }

    /// The beginning of a command line that runs a program in the namespace, which takes the place of the shell's process.
    var command: String { "exec ip netns exec \(name)" }

    /// The command that runs another one in the namespace, in its own process.
    var launcher: [String] { ["/usr/bin/env", "PATH=/usr/sbin:/sbin:/usr/bin:/bin", "ip", "netns", "exec", name] }

    private func remove() async throws {
        // With one end of a cable, the other one goes.
        try await run("ip netns delete \(name)")
    }

    private func run(_ lines: String) async throws {
        let result = try await EndToEnd.shell("set -e; PATH=$PATH:/usr/sbin:/sbin\n\(lines)")
        guard result.status == .code(0) else { throw Failure(result: result) }
    }
}
