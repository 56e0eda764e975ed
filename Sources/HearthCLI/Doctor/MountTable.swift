/// The mounted file systems of this process (proc_pid_mountinfo(5)).
struct MountTable {
    /// A mounted file system.
    struct Mount: Equatable {
        /// The path where it is mounted.
        let path: String
        /// Its type, such as `ext4`.
        let type: String
        /// Its device, or another source.
        let source: String
        /// The options of the mount, then those of the file system.
        let options: [String]
    }

    private let mounts: [Mount]

    /// Parses the text of `/proc/self/mountinfo`. Lines of another form are left out.
    init(_ text: String) {
        mounts = text.split(separator: "\n").compactMap(Self.mount)
    }

    /// Returns the file system that holds an absolute path without links.
    func mount(of path: String) -> Mount? {
        // A later mount on the same folder hides the earlier one.
        mounts.reversed().filter { $0.holds(path) }.max { $0.path.utf8.count < $1.path.utf8.count }
    }

    private static func mount(_ line: Substring) -> Mount? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count > 6, let separator = fields[6...].firstIndex(of: "-"), fields.count > separator + 3 else { return nil }
        var options = fields[5].split(separator: ",")
        options += fields[separator + 3].split(separator: ",").filter { !options.contains($0) }
        return Mount(
            path: unescaped(fields[4]),
            type: String(fields[separator + 1]),
            source: unescaped(fields[separator + 2]),
            options: options.map(String.init)
        )
    }

    /// Decodes the octal escapes of blanks and backslashes, such as `\040`.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest.removeFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension MountTable.Mount {
    fileprivate func holds(_ path: String) -> Bool {
        let folder = self.path.hasSuffix("/") ? self.path : self.path + "/"
        return path == self.path || path.utf8.starts(with: folder.utf8)
    }

    private static let networkTypes = ["9p", "ceph", "cifs", "glusterfs", "nfs", "nfs4", "smb3"]

    /// Sentences about why documents are not safe on this file system.
    var problems: [String] {
        var problems: [String] = []
        if Self.networkTypes.contains(type) || type.hasPrefix("fuse.") {
            problems.append(
                "The data folder is on \(type): locks and syncs of such file systems can't be relied on. Use a local disk."
            )
        } else if ["ramfs", "tmpfs"].contains(type) {
            problems.append("The data folder is in memory (\(type)): its contents are lost when the machine stops.")
        } else if type == "overlay" {
            problems.append("The data folder is in the writable layer of a container, which is removed with it: mount a volume.")
        }
        if options.contains("ro") { problems.append("The file system of the data folder is mounted read-only.") }
        if options.contains("nobarrier") || options.contains("barrier=0") {
            problems.append("The file system is mounted without barriers: commits can be lost in a power failure.")
        }
        return problems
    }
}
