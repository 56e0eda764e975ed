import DocumentModel

extension HexColor {
    /// Where the colour stands on a palette: by its hue in steps of thirty degrees, then from light to dark; greys come last.
    var paletteOrder: (hue: Int, darkness: Int) {
        let (red, green, blue) = (Int(red), Int(green), Int(blue))
        let (most, least) = (max(red, green, blue), min(red, green, blue))
        let darkness = 510 - most - least
        let span = most - least
        // What has hardly any colour is a grey.
        guard span * 12 > most else { return (12, darkness) }
        let degrees: Int =
            switch most {
            case red: 60 * (green - blue) / span
            case green: 120 + 60 * (blue - red) / span
            default: 240 + 60 * (red - green) / span
            }
        return (((degrees + 375) % 360) / 30, darkness)
    }
}
