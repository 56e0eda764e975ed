import Foundation
import Glibc

/// Bare file operations, as baselines for the store.
enum RawFileIO {
    /// A failed system call.
    struct Failure: Error, CustomStringConvertible {
        var call: String
        var code: Int32

        var description: String { "\(call): \(String(cString: strerror(code)))" }
    }

    /// Creates or truncates a file and writes it, without sync.
    static func write(_ bytes: [UInt8], to path: String) throws {
        try withNewFile(path) { descriptor in try write(bytes, to: descriptor) }
    }

    /// Writes a temporary file and renames it, without sync: the minimum cost of an atomic replacement.
    static func replace(_ path: String, with bytes: [UInt8]) throws {
        try write(bytes, to: path + ".tmp")
        try check("rename", rename(path + ".tmp", path))
    }

    /// Replaces a file durably: writes, syncs the file, renames it and syncs the folder.
    static func replaceDurably(_ name: String, in folder: String, with bytes: [UInt8]) throws {
        let path = folder + "/" + name
        try withNewFile(path + ".tmp") { descriptor in
            try write(bytes, to: descriptor)
            try check("fsync", fsync(descriptor))
        }
        try check("rename", rename(path + ".tmp", path))
        let descriptor = try check("open", open(folder, O_RDONLY | O_DIRECTORY))
        defer { close(descriptor) }
        try check("fsync", fsync(descriptor))
    }

    /// Appends `bytes` to a preallocated, zeroed file and syncs it, `count` times: the minimum cost of a journal commit.
    static func appendAndSync(_ bytes: [UInt8], count: Int, to path: String) throws {
        try withNewFile(path) { descriptor in
            let zeros = [UInt8](repeating: 0, count: 1 << 20)
            for _ in 0...(bytes.count * count) >> 20 { try write(zeros, to: descriptor) }
            try check("fsync", fsync(descriptor))
            for index in 0..<count {
                let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(index * bytes.count)) }
                guard written == bytes.count else { throw Failure(call: "pwrite", code: errno) }
                try check("fdatasync", fdatasync(descriptor))
            }
        }
    }

    /// Creates a temporary folder in `parent`, calls `body` with its path and deletes it.
    static func withTemporaryFolder<Result>(in parent: String, _ body: (String) async throws -> Result) async throws -> Result {
        let path = "\(parent)/hearth-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }

    private static func withNewFile(_ path: String, _ body: (Int32) throws -> Void) throws {
        let descriptor = try check("open", open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
        defer { close(descriptor) }
        try body(descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw Failure(call: "write", code: errno) }
    }

    @discardableResult
    private static func check(_ call: String, _ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw Failure(call: call, code: errno) }
        return result
    }
}
