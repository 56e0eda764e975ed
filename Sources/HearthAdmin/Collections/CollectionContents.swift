import DocumentModel

/// One result page of a collection, with the data that all its views share.
struct CollectionContents: Sendable {
    let results: CollectionResults
    /// The existing documents of the result page.
    let documents: [Document]
    /// The fields of the documents, including fields of maps, those first that the filter form suggests.
    let fields: [FieldPath]
    /// The colors in the documents.
    let colors: ColorCollector
    /// The geo points in the documents.
    let geoPoints: GeoPointCollector
    let controls: CollectionControls
    /// True if the order of the request excludes no document.
    let isExhaustive: Bool

    /// - Parameters:
    ///   - filters: The rows of the filter form.
    ///   - count: The total number of matching documents; `nil` if it is unknown.
    ///   - position: The position of the page.
    ///   - commands: Formats the shell commands to copy.
    ///   - isExhaustive: Whether the order of the request excludes no document.
    init(
        _ results: CollectionResults,
        filters: [FilterRow],
        count: BoundedCount?,
        position: PagePosition,
        isExhaustive: Bool,
        commands: ShellCommands
    ) {
        self.results = results
        self.isExhaustive = isExhaustive
        documents = results.documents
        fields = CollectionColumns.fields(of: documents, limit: FilterFormView.fieldLimit)
        var colors = ColorCollector()
        var geoPoints = GeoPointCollector()
        for document in documents {
            LeafFieldVisitor.forEachValue(of: document) { value, path in
                colors.collect(value, in: document, path: path)
                geoPoints.collect(value, in: document, path: path)
            }
        }
        self.colors = colors
        self.geoPoints = geoPoints
        controls = CollectionControls(
            results,
            filters: filters,
            documentCount: documents.count,
            fields: fields,
            hasColors: !colors.matches.isEmpty,
            hasGeoPoints: !geoPoints.matches.isEmpty,
            count: count,
            position: position,
            commands: commands
        )
    }

    /// The page's subscription to live updates; `nil` if its query cannot be watched.
    var liveStream: LiveStreamView? { results.liveStream.map(LiveStreamView.init) }
}
