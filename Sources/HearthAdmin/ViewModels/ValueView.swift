/// A value as a page shows it.
indirect enum ValueView: Sendable {
    case null
    case boolean(Bool)
    case number(String)
    case time(TimeView)
    case text(DisplayText)
    case folded(FoldedText)
    case color(ColorChip)
    case link(WebLink)
    case bytes(BytesView)
    case reference(LinkView)
    case place(PlaceView)
    case vector(VectorView)
    /// An array or map on one line.
    case group(GroupView)
    /// An array or map whose contents stand elsewhere: how much it holds.
    case extent(String)
}
