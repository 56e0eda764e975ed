import Foundation
import TestSupport

/// Runs of `hearth check` on a data folder.
enum FolderCheck {
    /// Returns the findings in the folder of a server that was shut down cleanly.
    static func findings(in data: URL) async throws -> [String] {
        let result = try await hearth("check", "--data", data.path)
        return result.status == .code(0) ? [] : result.output.dropLast() + (result.errorText.isEmpty ? [] : [result.errorText])
    }

    /// Returns the findings in a copy of the folder of a running server without concurrent writes. Excludes the index, which the
    /// server may be updating.
    static func findings(inCopyOf data: URL) async throws -> [String] {
        let copy = data.deletingLastPathComponent().appending(path: "checked")
        let files = FileManager.default
        try files.createDirectory(at: copy, withIntermediateDirectories: false)
        defer { try? files.removeItem(at: copy) }
        for name in try files.contentsOfDirectory(atPath: data.path) {
            // Files are replaced atomically, and temporary files are hidden.
            if name.hasPrefix("index.sqlite") || name.hasPrefix(".") { continue }
            try files.copyItem(at: data.appending(path: name), to: copy.appending(path: name))
        }
        return try await findings(in: copy)
    }
}
