import DocumentModel
import DocumentStore
import HearthAPI
import XMLText

/// An Atom feed (RFC 4287) of the latest changes in a collection, newest first, from the commits that the journal retains.
struct AtomFeed: Sendable {
    private struct Entry: Sendable {
        let sequence: SequenceNumber
        let time: Timestamp
        let change: CommittedChange
    }

    private let collection: CollectionPath
    private let epoch: String
    private let origin: String
    private let updated: Timestamp
    private let entries: [Entry]

    /// Reads the changes from the latest commits.
    ///
    /// - Parameters:
    ///   - origin: The scheme and authority of the request, for links.
    ///   - now: The current time, used when the feed has no entries.
    /// - Throws: ``StatusCode/permissionDenied`` if the caller has no access to the collection.
    init(
        of collection: CollectionPath,
        origin: String,
        now: Timestamp,
        in context: ServiceContext
    ) async throws(StatusError) {
        try context.authorize(.reader)
        // The commits of other collections are omitted silently, since most readers follow all collections that they may read.
        try context.caller.requireAccess(to: collection)
        self.collection = collection
        self.origin = origin
        let position = try await context.safePosition()
        epoch = position.epoch
        let last = position.lastSequence.rawValue
        let oldest = max(1, position.oldestRetained.rawValue)
        let first = max(oldest, last > Self.commitLimit ? last - Self.commitLimit : 1)
        var entries: [Entry] = []
        if first <= last {
            for try await commit in context.commits(after: SequenceNumber(first - 1)) {
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

    /// The serialized feed.
    var xml: [UInt8] {
        let xml = XMLWriter()
        xml.startElement("feed")
        xml.attribute("xmlns", "http://www.w3.org/2005/Atom")
        xml.element("id", id(of: AdminURL.collection(collection)))
        xml.element("title", collection.string)
        xml.element("updated", updated.rfc3339)
        link("alternate", AdminURL.collection(collection), to: xml)
        link("self", AdminURL.collection(collection) + "?export=atom", to: xml)
        xml.startElement("author")
        xml.element("name", ServerDescription.name)
        xml.endElement()
        for entry in entries { write(entry, to: xml) }
        xml.endElement()
        return xml.flush()
    }

    /// The maximum number of entries.
    private static let entryLimit = 100
    /// The maximum number of commits searched.
    private static let commitLimit: UInt64 = 5_000
    /// The maximum length of an entry's content.
    private static let contentLength = 4_000
}

extension AtomFeed {
    private func write(_ entry: Entry, to xml: XMLWriter) {
        let url = AdminURL.document(entry.change.path)
        xml.startElement("entry")
        xml.element("id", id(of: "\(url)/\(entry.sequence.rawValue)"))
        xml.element("title", title(of: entry))
        xml.element("updated", entry.time.rfc3339)
        link("alternate", url, to: xml)
        if let document = entry.change.after {
            let json = String(decoding: document.fieldsJSON, as: UTF8.self)
            let (text, isTruncated) = json.truncated(toScalars: Self.contentLength)
            xml.startElement("content")
            xml.attribute("type", "text")
            xml.text(isTruncated ? text + "…" : text)
            xml.endElement()
        } else {
            xml.element("summary", localized("deleted"))
        }
        xml.endElement()
    }

    private func title(of entry: Entry) -> String {
        let action =
            switch (entry.change.existedBefore, entry.change.after != nil) {
            case (false, _): localized("created")
            case (true, true): localized("changed")
            case (true, false): localized("deleted")
            }
        return "\(entry.change.path.string): \(action)"
    }

    private func link(_ relation: String, _ url: String, to xml: XMLWriter) {
        xml.startElement("link")
        xml.attribute("rel", relation)
        xml.attribute("href", origin + url)
        xml.endElement()
    }

    /// Returns a permanent ID (RFC 4151), independent of the server's host name.
    private func id(of url: String) -> String {
        "tag:hearth,2026:\(epoch)\(url)"
    }
}
