package import DocumentModel
import StrictJSON
package import UTF8Text

/// The rules that later ones have replaced, newest first, as `rules-history.json` stores them.
///
/// The file has the form `{"versions": [{"version": …, "replaceTime": …, "rules": …}]}`.
package struct RulesHistory: Sendable {
    /// A version of the rules that is no longer active.
    package struct Version: Sendable {
        /// The version, as ``ActiveRules/version``.
        package let version: UTF8Key
        /// The time at which other rules replaced it.
        package let replaceTime: Timestamp
        /// The text.
        package let text: String
    }

    /// The versions, newest first.
    package private(set) var versions: [Version] = []

    /// The maximum number of versions.
    private static let maximumCount = 50
    /// The maximum total size of their texts.
    private static let maximumBytes = 4 << 20

    private enum Keys {
        static let versions: UTF8Key = "versions"
        static let version: UTF8Key = "version"
        static let replaceTime: UTF8Key = "replaceTime"
        static let rules: UTF8Key = "rules"
    }

    /// Decodes the contents of the file; `nil` for one that does not exist.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the file is damaged.
    init(contents: [UInt8]?) throws(StatusError) {
        guard let contents else { return }
        guard let root = try? JSONText(contents, limits: JSONLimits(maximumBytes: 16 << 20)).root,
            let entries = root[Keys.versions]?.elements
        else { throw Self.damaged }
        for entry in entries {
            guard let version = entry[Keys.version]?.string, let text = entry[Keys.rules]?.string,
                let time = entry[Keys.replaceTime]?.string.flatMap({ try? Timestamp(rfc3339: $0) })
            else { throw Self.damaged }
            versions.append(Version(version: UTF8Key(version), replaceTime: time, text: text))
        }
    }

    private static let damaged = StatusError(
        .dataLoss,
        "The file rules-history.json is damaged. Remove it; the active rules are in firestore.rules."
    )

    /// Adds the rules that are being replaced. Older versions are dropped once there are too many.
    mutating func add(_ text: String, replacedAt time: Timestamp) {
        let version = ActiveRules.version(of: text)
        versions.removeAll { $0.version == version }
        versions.insert(Version(version: version, replaceTime: time, text: text), at: 0)
        var bytes = 0
        versions = Array(
            versions.prefix(Self.maximumCount).prefix { version in
                bytes += version.text.utf8.count
                return bytes <= Self.maximumBytes
            }
        )
    }

    /// The contents of the file.
    var encoded: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(Keys.versions)
        writer.beginArray()
        for version in versions {
            writer.beginObject()
            writer.key(Keys.version)
            writer.string(version.version.string)
            writer.key(Keys.replaceTime)
            writer.string(version.replaceTime.rfc3339)
            writer.key(Keys.rules)
            writer.string(version.text)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.finish() + [UInt8(ascii: "\n")]
    }
}
