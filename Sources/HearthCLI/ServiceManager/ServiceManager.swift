import Foundation

/// The service manager that has started this process, such as systemd, which is told about its state.
///
/// Speaks the protocol of `sd_notify(3)`: each message is a datagram with lines `NAME=value` to the socket that `NOTIFY_SOCKET` names.
struct ServiceManager: Sendable {
    /// A fact about the process.
    enum Notification: Sendable {
        /// The start has completed.
        case ready
        /// The process reads its configuration again. Followed by ``ready``.
        case reloading
        /// The process begins anew, and does not say that it works until it is ``ready``.
        case restarting
        /// The process is stopping.
        case stopping
        /// The process works. Sent at least once in each ``ServiceManager/watchdogInterval``, or the service manager restarts it.
        case alive
        /// Text about the state for people, on one line.
        case status(String)

        fileprivate var line: String {
            switch self {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)"
            case .restarting: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)\nWATCHDOG_USEC=0"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=" + text.map { $0.isNewline ? " " : String($0) }.joined()
            }
        }

        /// The time of `CLOCK_MONOTONIC`, by which the service manager knows that a ``ready`` is that of this reload.
        private static var monotonicMicroseconds: Int {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
        }
    }

    /// The time without ``Notification/alive`` after which the service manager considers the process hung; `nil` if it doesn't watch.
    let watchdogInterval: Duration?
    private let address: sockaddr_un
    private let addressBytes: socklen_t

    /// Finds the service manager by the environment that it has set; `nil` if there is none.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment, processID: Int32 = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"] else { return nil }
        var name = Array(path.utf8)
        // A name that begins with @ is in the abstract namespace of Linux, in which it begins with NUL instead.
        let isAbstract = name.first == UInt8(ascii: "@")
        guard isAbstract || name.first == UInt8(ascii: "/") else { return nil }
        if isAbstract { name[0] = 0 }
        var address = sockaddr_un()
        // A path ends with NUL, a name in the abstract namespace with the address.
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        self.address = address
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        addressBytes = socklen_t(offset + name.count + (isAbstract ? 0 : 1))
        watchdogInterval = Self.watchdogInterval(environment, processID)
    }

    private static func watchdogInterval(_ environment: [String: String], _ processID: Int32) -> Duration? {
        // Set for another process if a shell between has not replaced itself.
        if let watched = environment["WATCHDOG_PID"], watched != "\(processID)" { return nil }
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else { return nil }
        return .microseconds(microseconds)
    }

    /// Sends a message. Waits up to two seconds while the service manager has others to receive; then the message is lost.
    func notify(_ notifications: Notification...) async {
        var lines = notifications.map(\.line)
        // Watches again after a restart.
        if let watchdogInterval, case .ready? = notifications.first {
            lines.append("WATCHDOG_USEC=\(Int(watchdogInterval / .microseconds(1)))")
        }
        let message = Array(lines.joined(separator: "\n").utf8)
        for _ in 0..<Self.maximumAttempts {
            guard send(message) == EAGAIN else { return }
            guard (try? await Task.sleep(for: Self.attemptInterval)) != nil else { return }
        }
    }

    private static let maximumAttempts = 40
    private static let attemptInterval = Duration.milliseconds(50)

    /// Sends a datagram without waiting; returns the error number, which is 0 if it was sent.
    private func send(_ message: [UInt8]) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, message, message.count, flags, address, addressBytes) < 0 ? errno : 0
            }
        }
    }
}
