import Foundation
import Glibc

/// Installed programs and free ports.
enum PeerEnvironment {
    /// Returns the path of an installed program; `nil` if it is not installed.
    static func program(_ name: String) -> String? {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let postgres = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let folders = path + ["/usr/sbin"] + postgres.sorted().reversed().map { "/usr/lib/postgresql/\($0)/bin" }
        return folders.map { $0 + "/" + name }.first { access($0, X_OK) == 0 }
    }

    /// Returns a TCP port on which no program listens.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw RawFileIO.Failure(call: "socket", code: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard result else { throw RawFileIO.Failure(call: "bind", code: errno) }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Calls `isReady` until it returns true.
    ///
    /// - Throws: ``StartFailure`` after 30 seconds.
    static func wait(for name: String, until isReady: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while .now < end {
            if (try? await isReady()) == true { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw StartFailure(name: name)
    }

    /// A system did not start.
    struct StartFailure: Error, CustomStringConvertible {
        let name: String

        var description: String { "\(name) did not start." }
    }
}
