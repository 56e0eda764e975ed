import DocumentModel
import DocumentStore
import HearthService
import StrictJSON
import XMLText

/// The latest changes of a collection's documents as a feed (RFC 4287), the newest first, as far as the commits that are kept tell.
struct AtomFeed: Sendable {
    private struct Entry: Sendable {
        let sequence: SequenceNumber
        let time: Timestamp
        let change: DocumentChange
    }

    private let collection: CollectionPath
    private let epoch: String
    private let host: String
    private let updated: Timestamp
    private let entries: [Entry]

    /// Reads the latest commits.
    ///
    /// - Parameters:
    ///   - host: The scheme and the host that the reader called, for links.
    ///   - now: The present, for a feed without entries.
    init(
        of collection: CollectionPath,
        host: String,
        now: Timestamp,
        in context: ServiceContext
    ) async throws(StatusError) {
        self.collection = collection
        self.host = host
        let position = try await context.store.settledPosition()
        epoch = position.epoch
        let last = position.lastSequence.rawValue
        let oldest = max(1, position.oldestKept.rawValue)
        let first = max(oldest, last > Self.commitLimit ? last - Self.commitLimit : 1)
        var entries: [Entry] = []
        if first <= last {
            for try await commit in context.store.commits(after: SequenceNumber(first - 1)) {
                for change in commit.changes where change.path.collection == collection {
                    entries.append(Entry(sequence: commit.sequence, time: commit.time, change: change))
                }
                if entries.count > 2 * Self.entryLimit { entries.removeFirst(entries.count - Self.entryLimit) }
                if commit.sequence >= position.lastSequence { break }
            }
        }
        self.entries = entries.suffix(Self.entryLimit).reversed()
        updated = self.entries.first?.time ?? position.lastCommitTime ?? now
    }

    /// The feed.
    var xml: [UInt8] {
        let xml = XMLText()
        xml.begin("feed")
        xml.attribute("xmlns", "http://www.w3.org/2005/Atom")
        xml.element("id", id(of: AdminURL.collection(collection)))
        xml.element("title", collection.string)
        xml.element("updated", updated.rfc3339)
        link("alternate", AdminURL.collection(collection), to: xml)
        link("self", AdminURL.collection(collection) + "?export=atom", to: xml)
        xml.begin("author")
        xml.element("name", ServerDescription.name)
        xml.end()
        for entry in entries { write(entry, to: xml) }
        xml.end()
        return xml.take()
    }

    /// How many changes a feed has.
    private static let entryLimit = 100
    /// How many commits are looked through for them.
    private static let commitLimit: UInt64 = 5_000
    /// As much of a document as a reader of feeds has use for.
    private static let contentBytes = 4_000
}

extension AtomFeed {
    private func write(_ entry: Entry, to xml: XMLText) {
        let url = AdminURL.document(entry.change.path)
        xml.begin("entry")
        xml.element("id", id(of: "\(url)/\(entry.sequence.rawValue)"))
        xml.element("title", title(of: entry))
        xml.element("updated", entry.time.rfc3339)
        link("alternate", url, to: xml)
        if let document = entry.change.after {
            let json = String(decoding: document.fieldsJSON, as: UTF8.self)
            let (text, isCut) = json.beginning(scalars: Self.contentBytes)
            xml.begin("content")
            xml.attribute("type", "text")
            xml.text(isCut ? text + "…" : text)
            xml.end()
        } else {
            xml.element("summary", localized("deleted"))
        }
        xml.end()
    }

    private func title(of entry: Entry) -> String {
        let what =
            switch (entry.change.existedBefore, entry.change.after != nil) {
            case (false, _): localized("created")
            case (true, true): localized("changed")
            case (true, false): localized("deleted")
            }
        return "\(entry.change.path.string): \(what)"
    }

    private func link(_ relation: String, _ url: String, to xml: XMLText) {
        xml.begin("link")
        xml.attribute("rel", relation)
        xml.attribute("href", host + url)
        xml.end()
    }

    /// A name for good (RFC 4151), the same whatever host the server is called by.
    private func id(of url: String) -> String {
        "tag:hearth,2026:\(epoch)\(url)"
    }
}
