internal import Glibc

/// The user who owns a file.
package enum FileOwner {
    /// Returns the name of a user; `nil` if the system does not know it. May wait for a directory service.
    package static func name(ofUser id: UInt32) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard let address = buffer.baseAddress,
                getpwuid_r(id, &entry, address, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
            else { return nil }
            return String(validatingCString: name)
        }
    }
}
